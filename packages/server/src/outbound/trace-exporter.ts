import { setTimeout as sleep } from "node:timers/promises";
import type { TracerProvider } from "@opentelemetry/api";

/**
 * Sends traces to the operator's own collector. The operator's environment sets its address, as for the mail server,
 * and no caller can: so the egress policy, which protects the operator's network from callers, does not apply. Of an
 * answer only its success is read.
 */
export interface TraceExporter {
  readonly provider: TracerProvider;
  /** Sends what has not been sent. */
  stop(): Promise<void>;
}

/** The longest that a stop waits for the last export. */
const LAST_MS = 1_000;
/** The longest that a hanging collector holds the process. OpenTelemetry's own is 10 s. */
const EXPORT_MS = 3_000;

const PACKAGES = [
  "@opentelemetry/sdk-trace-node",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/resources",
] as const;

export class TracePackagesMissing extends Error {
  override readonly name = "TracePackagesMissing";

  constructor(cause: unknown) {
    super(
      "OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages that send traces are not installed beside Bellhop. " +
        `Install them with npm install ${PACKAGES.join(" ")}, or unset it.`,
      { cause },
    );
  }
}

/** As much as is used of the three packages, which are not there unless the operator has installed them. */
interface Sdk {
  readonly NodeTracerProvider: new (options: {
    readonly resource: unknown;
    readonly spanProcessors: readonly unknown[];
  }) => TracerProvider & { register(): void; shutdown(): Promise<void> };
  readonly BatchSpanProcessor: new (exporter: unknown) => unknown;
  readonly OTLPTraceExporter: new (options: { readonly timeoutMillis?: number }) => unknown;
  readonly defaultResource: () => { merge(other: unknown): unknown };
  readonly resourceFromAttributes: (attributes: Readonly<Record<string, string>>) => {
    merge(other: unknown): unknown;
  };
  readonly detectResources: (options: { readonly detectors: readonly unknown[] }) => unknown;
  readonly envDetector: unknown;
}

/** The exporter reads where to send and how from the variables that OpenTelemetry names: OTEL_EXPORTER_OTLP_… and the like. */
export async function openTraceExporter(
  attributes: Readonly<Record<string, string>>,
  load: (name: string) => Promise<object> = (name) => import(name),
): Promise<TraceExporter> {
  const sdk = await loadSdk(load);
  const named = sdk
    .resourceFromAttributes(attributes)
    .merge(sdk.detectResources({ detectors: [sdk.envDetector] }));
  // Options here override the environment.
  const timeout = process.env.OTEL_EXPORTER_OTLP_TIMEOUT ? {} : { timeoutMillis: EXPORT_MS };
  const provider = new sdk.NodeTracerProvider({
    resource: sdk.defaultResource().merge(named),
    spanProcessors: [new sdk.BatchSpanProcessor(new sdk.OTLPTraceExporter(timeout))],
  });
  provider.register();
  return {
    provider,
    stop: () => Promise.race([provider.shutdown(), sleep(LAST_MS, undefined, { ref: false })]),
  };
}

async function loadSdk(load: (name: string) => Promise<object>): Promise<Sdk> {
  try {
    const modules = await Promise.all(PACKAGES.map(load));
    // By name, so that a build needs none of them; a test sees it work with the versions in the lock file.
    // trusted keys: names that the packages export.
    return Object.assign({}, ...modules) as Sdk;
  } catch (error) {
    throw new TracePackagesMissing(error);
  }
}
