import { useSyncExternalStore } from "react";

/** A value that lives outside of the components. */
export function createStore<Value>(initial: Value) {
  let value = initial;
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const get = () => value;
  return {
    get,
    set(next: Value) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, get),
  };
}

/** As a store, and remembered by this browser. */
export function createSetting<Value extends string>(name: string, choices: readonly Value[], initial: Value) {
  const key = `bellhop.${name}`;
  const kept = window.localStorage.getItem(key);
  const store = createStore<Value>(choices.find((choice) => choice === kept) ?? initial);
  return {
    ...store,
    set(next: Value) {
      window.localStorage.setItem(key, next);
      store.set(next);
    },
  };
}
