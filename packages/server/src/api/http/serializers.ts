import SerializerSelector from "@fastify/fast-json-stringify-compiler";

type BuildSerializer = ReturnType<typeof SerializerSelector>;
type Compile = ReturnType<BuildSerializer>;
type Serializer = ReturnType<Compile>;

/**
 * Fastify compiles a serializer for every answer of every route at the start, and each compilation goes over all schemas:
 * two seconds in which nothing else happens. Here each model is compiled once, when it is first sent; an error never is,
 * because it leaves as text.
 */
export const buildSerializer: BuildSerializer = (schemas, options) => {
  const compile = SerializerSelector()(schemas, options);
  const compiled = new Map<string, Serializer>();
  return (route) => {
    let own: Serializer | undefined;
    const find = () => {
      const model = JSON.stringify(route.schema);
      const serializer = compiled.get(model) ?? compile(route);
      compiled.set(model, serializer);
      return serializer;
    };
    return (value) => {
      own ??= find();
      return own(value);
    };
  };
};
