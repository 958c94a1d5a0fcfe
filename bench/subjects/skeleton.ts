import { benchScript, startProcess } from "../child-process.ts";
import { payloadFor, type Subject } from "./subject.ts";

export const skeleton: Subject = {
  name: "skeleton",
  async start({ dataDir, logFile, concurrency }) {
    const started = await startProcess({
      name: "skeleton",
      args: benchScript("skeleton.ts"),
      env: {
        PORT: "0",
        SKELETON_DATA_DIR: dataDir,
        SKELETON_CONCURRENCY: String(concurrency),
      },
      logFile,
    });
    return {
      pid: started.pid,
      submitUrl: `${started.readyAt}/tasks`,
      headers: {},
      bodyFor: (seq, targetUrl) => JSON.stringify({ webhook_url: targetUrl, payload: payloadFor(seq) }),
      stop: started.stop,
    };
  },
};
