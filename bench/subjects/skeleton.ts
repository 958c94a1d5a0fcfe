import { reachRunningServer } from "../../packages/server/src/postgres/running-server.ts";
import { benchScript, startProcess } from "../../tools/child-process.ts";
import { probeArgs } from "../probe-client.ts";
import { frontDoorBody, type Subject } from "./subject.ts";

export const skeleton: Subject = {
  name: "skeleton",
  async start({ dataDir, logFile, concurrency, claims }) {
    const started = await startProcess({
      name: "skeleton",
      args: [...probeArgs, ...benchScript("skeleton/skeleton")],
      env: {
        PORT: "0",
        SKELETON_DATA_DIR: dataDir,
        SKELETON_CONCURRENCY: String(concurrency),
        SKELETON_CLAIMS: claims ? "yes" : "no",
      },
      logFile,
    });
    return {
      pids: [started.pid],
      database: await reachRunningServer(dataDir),
      probed: { pid: started.pid, logFile },
      submitUrls: [`${started.readyAt}/tasks`],
      headers: {},
      bodyFor: frontDoorBody,
      stop: started.stop,
    };
  },
};
