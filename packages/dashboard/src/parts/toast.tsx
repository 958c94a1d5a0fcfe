import { ApiError } from "@bellhop/sdk";
import { createStore } from "../data/store.ts";
import { messageOf } from "./page.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly detail: string | null;
  readonly isBad: boolean;
  readonly undo: (() => void) | null;
}

const store = createStore<readonly Toast[]>([]);
let lastId = 0;
const SHOWN_MS = 6_000;

function show(toast: Omit<Toast, "id">) {
  lastId += 1;
  const id = lastId;
  store.set([...store.get(), { ...toast, id }].slice(-4));
  window.setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number) {
  store.set(store.get().filter((toast) => toast.id !== id));
}

/** Says what was done; with a way back where there is one. */
export function tell(text: string, undo: (() => void) | null = null) {
  show({ text, detail: null, isBad: false, undo });
}

export function tellProblem(error: unknown) {
  const detail = error instanceof ApiError && error.requestId ? `Request ${error.requestId}` : null;
  show({ text: messageOf(error), detail, isBad: true, undo: null });
}

export function Toasts() {
  const toasts = store.use();
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} className={toast.isBad ? "toast bad" : "toast"}>
          <div>
            {toast.text}
            {toast.detail === null ? null : <div className="small muted mono">{toast.detail}</div>}
          </div>
          {toast.undo === null ? null : (
            <button
              type="button"
              className="copy"
              onClick={() => {
                toast.undo?.();
                dismiss(toast.id);
              }}
            >
              Undo
            </button>
          )}
          <button type="button" className="copy bare" aria-label="Close" onClick={() => dismiss(toast.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
