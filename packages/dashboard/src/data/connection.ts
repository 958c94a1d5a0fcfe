import { createStore } from "./store.ts";

interface Connection {
  /** When the server last answered, whatever it said. */
  readonly answeredAt: number;
  /** Since when it does not answer; null while it does. */
  readonly lostSince: number | null;
  readonly isSignedOut: boolean;
}

const store = createStore<Connection>({ answeredAt: Date.now(), lostSince: null, isSignedOut: false });

/** What the last requests told about the server: shown on every page. */
export const connection = {
  use: store.use,
  answered(status: number) {
    const { answeredAt, lostSince, isSignedOut } = store.get();
    const now = Date.now();
    // A second of age is of no interest, and every change draws the shell again.
    if (lostSince === null && isSignedOut === (status === 401) && now - answeredAt < 1000) return;
    store.set({ answeredAt: now, lostSince: null, isSignedOut: status === 401 });
  },
  failed() {
    const state = store.get();
    if (state.lostSince === null) store.set({ ...state, lostSince: Date.now() });
  },
};
