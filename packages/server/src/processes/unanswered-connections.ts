import type { ChildProcess } from "node:child_process";

/**
 * Passes connections on that a process has not acknowledged when it exits. `cluster` waits for the acknowledgement for ever:
 * the parent would keep the connection open, and its caller would get no answer. Without another process to take it, it is
 * closed. The messages are internal to Node, and the same in Node 20 to 24; a test in `processes.test.ts` fails where they are not.
 */
export function passOnUnanswered(child: ChildProcess, isTaken: () => boolean): void {
  const unanswered = new Set<number>();
  const { send } = child;
  child.send = (...message: readonly unknown[]) => {
    if (isHandOver(message[0])) unanswered.add(message[0].seq);
    return Reflect.apply(send, child, message);
  };
  child.on("internalMessage", ({ ack }: { readonly ack?: number }) => {
    if (ack !== undefined) unanswered.delete(ack);
  });
  // A turn of the event loop later, each message that the process has written has been read. The channel itself may never say that
  // it has closed while it waits for an acknowledgement.
  child.once("exit", () => setImmediate(() => setImmediate(passOn)));

  function passOn(): void {
    const accepted = !isTaken();
    for (const ack of [...unanswered]) child.emit("internalMessage", { cmd: "NODE_CLUSTER", ack, accepted });
  }
}

function isHandOver(message: unknown): message is { readonly seq: number } {
  return typeof message === "object" && message !== null && "act" in message && message.act === "newconn";
}
