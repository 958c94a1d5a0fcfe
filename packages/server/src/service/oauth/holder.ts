/** Whom a code or token was given by: a person, in one of the teams that they belong to. */
export interface Holder {
  readonly teamId: number;
  readonly userId: string;
}

/** The library knows one id of a user and carries it everywhere; ours says the team as well. */
export function formatHolder({ teamId, userId }: Holder): string {
  return `${teamId}/${userId}`;
}

export function parseHolder(id: string | number): Holder {
  const [teamId, userId] = String(id).split("/");
  if (teamId === undefined || userId === undefined) throw new TypeError("This is no holder's id");
  return { teamId: Number(teamId), userId };
}
