/**
 * Those who listen, in a process of their own: BENCH_STREAMS streams of every event. They share the cores with what is
 * measured, so they look at no more of an event than it takes to count it. Asked with a number, they answer when each stream
 * has told of so many ends, with what the one that told least has told.
 */
import { connect } from "node:net";

const limitMs = 10_000;
const wanted = Buffer.from("event: task.completed\n");
// What a piece ends with is put in front of the next: an event may be cut anywhere.
const kept = wanted.length - 1;

const url = new URL(process.env.BENCH_EVENTS_URL ?? "");
const told = new Array<number>(Number(process.env.BENCH_STREAMS)).fill(0);
let onTold = () => {};

function open(stream: number): Promise<void> {
  return new Promise((resolve) => {
    const buffer = Buffer.alloc(kept + 65_536);
    const socket = connect({
      host: url.hostname,
      port: Number(url.port),
      onread: {
        buffer: buffer.subarray(kept),
        callback(length) {
          resolve();
          count(stream, buffer.subarray(0, kept + length));
          buffer.copyWithin(0, length, length + kept);
          return true;
        },
      },
    });
    // One that is cut tells no more, and so the bench says.
    socket.on("error", console.error);
    const authorization = `authorization: ${process.env.BENCH_AUTHORIZATION}`;
    socket.write(`GET ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n${authorization}\r\n\r\n`);
  });
}

function count(stream: number, received: Buffer): void {
  for (let at = received.indexOf(wanted); at >= 0; at = received.indexOf(wanted, at + wanted.length))
    told[stream] = (told[stream] ?? 0) + 1;
  onTold();
}

process.on("message", (ends: number) => {
  const least = () => Math.min(...told);
  const answer = () => {
    clearTimeout(limit);
    onTold = () => {};
    process.send?.(least());
  };
  const limit = setTimeout(answer, limitMs);
  onTold = () => {
    if (least() >= ends) answer();
  };
  onTold();
});
process.on("disconnect", () => process.exit(0));
await Promise.all(told.map((_, stream) => open(stream)));
console.log("Streams is ready at ipc");
