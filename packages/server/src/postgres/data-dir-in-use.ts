/** The refusal of a second Bellhop on one data directory. */
export class DataDirInUse extends Error {
  override name = "DataDirInUse";

  constructor(dataDir: string, owner: { pid: number | null; host: string | null }) {
    const who =
      owner.pid === null ? "" : ` (pid ${owner.pid}${owner.host === null ? "" : ` on ${owner.host}`})`;
    super(
      `Another Bellhop${who} is using the data directory ${dataDir}. ` +
        "Stop it first, or set BELLHOP_DATA_DIR to another directory.",
    );
  }
}
