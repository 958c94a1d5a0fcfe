import { useQuery } from "@tanstack/react-query";
import { bellhop } from "../data/client.ts";
import { curlOfCreation } from "../data/task.ts";
import { Code } from "../parts/copy.tsx";
import { Empty, Loaded, Page, PageHead, Panel } from "../parts/page.tsx";
import { PollFlow } from "../parts/poll-flow.tsx";

/** The catalog: what happens after the first call, for each third party. */
export function Providers() {
  const providers = useQuery({ queryKey: ["providers"], queryFn: () => bellhop.providers.list() });
  return (
    <Page title="Providers">
      <PageHead title="Providers" />
      <p className="muted">
        Third parties whose jobs continue after the first call. A task that names one is polled until there is
        a result; for others a task brings a <code>pollConfig</code> of its own.
      </p>
      <Loaded query={providers} rows={6}>
        {(known) =>
          known.length === 0 ? (
            <Empty title="The catalog is empty" />
          ) : (
            known.map(({ id, name, description, pollConfig }) => (
              <Panel
                key={id}
                title={name}
                actions={
                  <code className="muted small" style={{ paddingRight: 8 }}>{`"provider": "${id}"`}</code>
                }
              >
                <div className="stack">
                  <p className="muted">{description}</p>
                  <PollFlow config={pollConfig} />
                </div>
              </Panel>
            ))
          )
        }
      </Loaded>
      {providers.isPending ? null : (
        <Panel title="Try it against bellhop echo, which simulates fal">
          <Code
            text={curlOfCreation(
              { targetUrl: "http://127.0.0.1:9000/fal", provider: "fal" },
              window.location.origin,
            )}
          />
        </Panel>
      )}
    </Page>
  );
}
