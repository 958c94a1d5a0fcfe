/** Who is calling: every query carries its team. */
export interface Principal {
  readonly teamId: number;
  readonly keyId: string;
  /** Tasks of a `test` key are stored and never executed. */
  readonly environment: "live" | "test";
}
