// The SBOM of a release: what the packages hold in their bundle, and what npm installs with them. npm writes one of everything in the
// lockfile, also for the platforms that this machine is not, and this keeps the packages that a release ships. npm's own `--omit=dev`
// leaves out half of those, fastify among them.

/** `shipped` are packages by name and version. Throws where npm does not know one of them. */
export function keepShipped(sbom, shipped) {
  const wanted = new Set(shipped.map(purlOf));
  const components = sbom.components.filter(({ purl }) => wanted.has(purl));
  const found = new Set(components.map(({ purl }) => purl));
  const missing = [...wanted].filter((purl) => !found.has(purl));
  if (missing.length > 0) throw new Error(`The lockfile does not have ${missing.join(", ")}`);
  const refs = new Set([
    sbom.metadata.component["bom-ref"],
    ...components.map((component) => component["bom-ref"]),
  ]);
  const dependencies = sbom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return { ...sbom, components, dependencies };
}

function purlOf({ name, version }) {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}
