import { Socket } from "node:net";
import { after, mock } from "node:test";

const THIS_MACHINE = new Set(["0.0.0.0", "::", "::1", "::ffff:7f00:1", "::ffff:0:0", "localhost"]);

/**
 * Counts every attempt to open a connection, and lets none leave this machine: with a guard that is broken, a test
 * must fail and not knock on somebody's door.
 */
export function fenceSockets() {
  const attempts: string[] = [];
  const connect = Socket.prototype.connect;
  const fence = mock.method(Socket.prototype, "connect", function (this: Socket, ...args: unknown[]) {
    const host = hostOf(args);
    attempts.push(host);
    if (THIS_MACHINE.has(host) || host.startsWith("127.")) return Reflect.apply(connect, this, args);
    return this.destroy(new Error(`${host} lies beyond the fence`));
  });
  after(() => fence.mock.restore());
  return { attempts };
}

/** `net.connect` hands its arguments on as one array. */
function hostOf([first]: readonly unknown[]): string {
  const options: unknown = Array.isArray(first) ? first[0] : first;
  if (typeof options !== "object" || options === null || !("host" in options)) return "unknown";
  return String(options.host);
}
