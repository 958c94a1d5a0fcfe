import { setTimeout as sleep } from "node:timers/promises";
import type { TracerProvider } from "@opentelemetry/api";

/**
 * What sends traces to the operator's own collector. It is told where by the operator's environment, as a mail server is, and by
 * no caller: the egress policy, which keeps callers from reaching into the operator's network, is not asked. Nothing of an
 * answer is read but whether it was taken.
 */
export interface TraceExporter {
  readonly provider: TracerProvider;
  /** Sends what has not been sent. */
  stop(): Promise<void>;
}

/** A stop waits no longer for the last of them to be taken: the process is promised to be gone in time. */
const LAST_MS = 1_000;
/** Nor does a collector that hangs hold the process for longer. OpenTelemetry's own is 10 s. */
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
  // What is said here wins over the environment.
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
    return Object.assign({}, ...modules) as Sdk;
  } catch (error) {
    throw new TracePackagesMissing(error);
  }
}
