import type { OtherApi, RegisterRoutes } from "../api/server.ts";
import type { Actors, NewActor } from "../engine/actors.ts";
import type { NodeDeps } from "../server/compose-basis.ts";
import type { CoreServices } from "../server/compose-services.ts";
import type { Sql } from "../store/sql.ts";

/** The parts of the server that a feature may use. */
export interface Core extends Omit<NodeDeps, "providers">, CoreServices {
  readonly actors: Pick<Actors, "wake">;
}

/** Deletes one batch of records that are past their retention. Resolves with whether there may be more. */
export type RemoveOldRecords = (sql: Sql) => Promise<boolean>;

/**
 * A part of the server that can be removed without breaking the core: it may import the core, and the core imports no
 * feature. It brings its own domain, store, service and route files, in a folder whose only public file is index.ts.
 */
export interface Feature {
  /** Registered under /v1. Each route declares who may use it. */
  readonly routes?: readonly RegisterRoutes[];
  /** Interfaces beside /v1. */
  readonly others?: readonly OtherApi[];
  /** Loops that run on every node that makes calls. Each declares its cost. */
  readonly actors?: readonly NewActor[];
  readonly retention?: readonly RemoveOldRecords[];
}

/**
 * Declares a feature. Besides the hooks above it may return services for other features and for tests. `uses` are the
 * services of other features that it needs.
 */
export function defineFeature<Made extends Feature, Uses extends readonly unknown[] = []>(
  create: (core: Core, ...uses: Uses) => Made,
): (core: Core, ...uses: Uses) => Made {
  return create;
}
