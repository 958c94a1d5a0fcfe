import type { Sql } from "../sql.ts";

export interface SigningSecret {
  readonly secret: string;
  readonly createdAt: Date;
  /** Null for the current one. */
  readonly validUntil: Date | null;
}

/** Those that sign now, the current one first. */
export async function signingSecrets(sql: Sql, teamId: number): Promise<SigningSecret[]> {
  return sql.rows<SigningSecret>(
    `select secret, created_at as "createdAt", valid_until as "validUntil" from signing_secrets
      where team_id = $1 and (valid_until is null or valid_until > now())
      order by valid_until desc nulls first`,
    [teamId],
  );
}

/** Makes this the team's secret, unless it has one. */
export async function insertFirstSecret(sql: Sql, teamId: number, id: string, secret: string): Promise<void> {
  await sql.rows(
    `insert into signing_secrets (team_id, id, secret) values ($1, $2, $3)
     on conflict (team_id) where valid_until is null do nothing`,
    [teamId, id, secret],
  );
}

/** The current secret signs beside its successor for so long. Run in one transaction with the insert. */
export async function retireCurrentSecret(sql: Sql, teamId: number, hours: number): Promise<void> {
  await sql.rows(
    `update signing_secrets set valid_until = now() + make_interval(hours => $2)
      where team_id = $1 and valid_until is null`,
    [teamId, hours],
  );
}

export async function removeRetiredSecrets(sql: Sql): Promise<void> {
  await sql.rows("delete from signing_secrets where valid_until < now()");
}
