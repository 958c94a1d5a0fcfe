/** A queue in which teams take turns, so that one team's items delay no other team. */
export class FairQueue<T> {
  readonly #byTeam = new Map<number, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(teamId: number, item: T): void {
    const items = this.#byTeam.get(teamId);
    if (items === undefined) this.#byTeam.set(teamId, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** The oldest item of the team whose turn it is, skipping busy teams; that team then comes last. */
  take(isBusy?: (teamId: number) => boolean): { readonly teamId: number; readonly item: T } | null {
    for (const [teamId, items] of this.#byTeam) {
      if (isBusy?.(teamId)) continue;
      const item = items.shift();
      this.#byTeam.delete(teamId);
      if (item === undefined) continue;
      if (items.length > 0) this.#byTeam.set(teamId, items);
      this.#size -= 1;
      return { teamId, item };
    }
    return null;
  }
}
