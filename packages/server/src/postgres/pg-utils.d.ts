declare module "pg/lib/utils.js" {
  const utils: {
    /** What the driver sends for a value. */
    prepareValue(value: unknown): string | Buffer | null;
  };
  export = utils;
}
