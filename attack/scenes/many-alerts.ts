import type { Scene } from "../scene.ts";

const ALERTS = 50;
const AT_ONCE = 4;

export const scene: Scene = {
  what: "ten teams of one person have 50 alerts each with ten channels that hang, and test them without end",
  seconds: 15,
  async prepare(stage) {
    const teams = await Promise.all(
      Array.from({ length: 10 }, () => stage.team({ plan: "free", owner: "mallory@example.com" })),
    );
    const notify = Array.from({ length: 10 }, (_, number) => ({ url: `${stage.target.url}/hang?${number}` }));
    const ids: { key: string; id: string }[] = [];
    for (const { key } of teams)
      for (let made = 0; made < ALERTS; made += 1) {
        const when = { kind: "depth", threshold: 1_000 };
        const answer = await stage.must("POST", "/v1/alerts", {
          key,
          body: { name: `a${made}`, when, notify },
        });
        ids.push({ key, id: (answer.body as { alert: { id: string } }).alert.id });
      }
    return async (signal) => {
      const test = async (_: unknown, first: number) => {
        for (let turn = first; !signal.aborted; turn += AT_ONCE) {
          const { key, id } = ids[turn % ids.length] ?? { key: "", id: "" };
          await stage.request("POST", `/v1/alerts/${id}/test`, { key });
          await stage.request("GET", "/v1/alerts?limit=1000", { key });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, test));
    };
  },
};
