import { type RefObject, useEffect, useRef } from "react";

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** After `g` the next letter goes somewhere, within this time. */
const SECOND_KEY_MS = 1200;

/** The shell's keys first; what a page has of its own comes later, and counts before. */
const layers: RefObject<Keys>[] = [];
let first: string | null = null;
let firstAt = 0;

function onKeyDown(event: KeyboardEvent) {
  const isMod = event.ctrlKey || event.metaKey;
  if (event.altKey || event.isComposing) return;
  if (!isMod && (isWriting(event.target) || isDialogOpen())) return;
  const key = isMod ? `mod+${event.key.toLowerCase()}` : event.key;
  const isSecond = first !== null && event.timeStamp - firstAt < SECOND_KEY_MS;
  const name = isSecond ? `${first} ${key}` : key;
  first = key === "g" && !isSecond ? key : null;
  firstAt = event.timeStamp;
  const run = layers.findLast((layer) => name in layer.current)?.current[name];
  if (run === undefined) return;
  event.preventDefault();
  run(event);
}

/** Keys of a page, or of the shell: `j`, `?`, `mod+k`, `g o`. None while the reader writes or a dialog is open. */
export function useKeys(keys: Keys, { isShell = false }: { readonly isShell?: boolean } = {}) {
  const layer = useRef(keys);
  layer.current = keys;
  useEffect(() => {
    if (layers.length === 0) window.addEventListener("keydown", onKeyDown);
    if (isShell) layers.unshift(layer);
    else layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      if (layers.length === 0) window.removeEventListener("keydown", onKeyDown);
    };
  }, [isShell]);
}

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"]') !== null;
}
