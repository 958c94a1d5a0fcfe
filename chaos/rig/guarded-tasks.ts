import { NO_WISH, type Wish } from "../checker/outside/wishes.ts";
import type { Api, Told } from "./api.ts";
import type { Asking } from "./asking.ts";
import { FRAGILE } from "./fragile.ts";
import type { Random } from "./random.ts";
import type { Target } from "./target.ts";
import { readTaskId } from "./task-requests.ts";

/** Keys with windows that end many times in a run. */
const KEYS = ["short-1", "short-2", "short-3"];
const WINDOW_SECONDS = 2;

export interface GuardedTasks {
  /** A task with nothing special; `call` is what its target does, `more` further fields of the request. */
  create(
    queue: string,
    call: string,
    wish?: Partial<Wish>,
    more?: Readonly<Record<string, unknown>>,
  ): Promise<Told>;
  /** Of the queue with a rate, of the one with a breaker, and with a key of deduplication. */
  rated(): Promise<Told>;
  fragile(): Promise<Told>;
  deduped(queue: string): Promise<Told>;
}

/** Queue tasks of which answers and calls alone show whether they were treated as they were meant to be. */
export function createGuardedTasks(deps: {
  readonly api: Api;
  readonly asking: Asking;
  readonly random: Random;
  readonly target: Target;
}): GuardedTasks {
  const { api, asking, random, target } = deps;
  let count = 0;

  function create(
    queue: string,
    call: string,
    wish: Partial<Wish> = {},
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<Told> {
    count += 1;
    const nonce = `g-${count}`;
    const url = queue === FRAGILE ? target.fragileUrl : target.url;
    const webhook_url = `${url}/call/${call}${call.includes("?") ? "&" : "?"}nonce=${nonce}`;
    const body = { queue, webhook_url, payload: { nonce }, ...more };
    const asked = { action: "create", method: "POST", path: "/v1/tasks", queue, carried: nonce } as const;
    return api.ask({ ...asked, node: asking.anyNode(), body, wish: { ...NO_WISH, ...wish } }, readTaskId);
  }

  return {
    create,
    rated: () => create("rated", `ok?ms=${random.between(5, 400)}`),
    fragile: () => create(FRAGILE, `ok?ms=${random.between(5, 400)}`),
    deduped(queue) {
      const key = random.pick(KEYS);
      const dedupe = { key, mode: "first", window: WINDOW_SECONDS };
      const wish = { dedupe: { key, windowMs: WINDOW_SECONDS * 1_000 } };
      return create(queue, `ok?ms=${random.between(5, 300)}`, wish, { dedupe });
    },
  };
}
