// One process for all suites: loading the schema library takes longer than running the tests.
import "./auth.suite.ts";
import "./health.suite.ts";
import "./log.suite.ts";
import "./outgoing-call.suite.ts";
import "./openapi.suite.ts";
import "./payload.suite.ts";
import "./queues.suite.ts";
import "./request.suite.ts";
import "./socket.suite.ts";
import "./task-call.suite.ts";
import "./task-create.suite.ts";
import "./task-list.suite.ts";
import "./task-read.suite.ts";
