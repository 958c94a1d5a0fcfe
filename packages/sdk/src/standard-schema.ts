/**
 * What validators such as Zod, Valibot and ArkType have in common (standardschema.dev, version 1): types alone, so that none of
 * them has to be installed.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The value as the schema gives it, or what is wrong with it, in one line. */
export async function validate<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<{ readonly value: Output } | { readonly complaint: string }> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { value: result.value };
  return { complaint: result.issues.map(describeIssue).join("; ") };
}

function describeIssue({ message, path = [] }: Issue): string {
  const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}
