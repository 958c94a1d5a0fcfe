import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useAlerts } from "../data/alerts.ts";
import { useBreakers } from "../data/breakers.ts";
import { bellhop } from "../data/client.ts";
import { complaintsOf } from "../data/health.ts";
import { useLiveQuery } from "../data/live.ts";
import { useNow } from "../data/now.ts";
import { useQueues } from "../data/queues.ts";
import { useRange } from "../data/ranges.ts";
import { useSandbox } from "../data/sandbox.ts";
import { useFailures, useStats } from "../data/stats-query.ts";
import { STATUSES } from "../data/status.ts";
import { curlOfCreation, wordsOf } from "../data/task.ts";
import { Charts } from "../parts/charts.tsx";
import { Icon } from "../parts/icon.tsx";
import { List } from "../parts/list-page.tsx";
import { Empty, Loaded, Page, PageHead, Panel, Skeletons } from "../parts/page.tsx";
import { RangePicker } from "../parts/range-picker.tsx";
import { toneOf } from "../parts/state.tsx";
import { ResponseCode, Target } from "../parts/target.tsx";
import { Tiles } from "../parts/tiles.tsx";
import { Attention } from "./overview/attention.tsx";
import { FiringAlerts } from "./overview/firing-alerts.tsx";
import { FirstMinute } from "./overview/first-minute.tsx";

export function Overview() {
  const stats = useStats(useRange());
  const alerts = useAlerts();
  const { isPending, isKnown, complaints } = useComplaints();
  const [isFirst, setFirst] = useFirstVisit();
  if (isFirst) {
    return (
      <Page title="Overview">
        <PageHead title="Welcome to Bellhop" />
        <FirstMinute onDone={() => setFirst(false)} />
      </Page>
    );
  }
  return (
    <Page title="Overview">
      <PageHead title="Overview">
        <RangePicker />
      </PageHead>
      {/* All at once: each part would push down the others. */}
      {isPending || stats.isPending || alerts.isPending ? (
        <Skeletons rows={12} />
      ) : (
        <>
          <Health isKnown={isKnown} complaints={complaints} />
          <FiringAlerts />
          <Loaded query={stats}>
            {(known) => (
              <>
                <Tiles stats={known} series={known.total} />
                <Charts stats={known} series={known.total} />
              </>
            )}
          </Loaded>
          <div className="two">
            <Attention complaints={complaints} />
            <NewestFailures />
          </div>
        </>
      )}
    </Page>
  );
}

/** Whether the page was opened on a server without tasks: it then stays with the steps while the first ones walk. */
function useFirstVisit() {
  const queues = useQueues();
  const isSandbox = useSandbox().sandbox !== undefined;
  const [chosen, choose] = useState<boolean | null>(null);
  const isEmpty = queues.data?.every(({ stats }) => STATUSES.every((status) => stats[status] === 0));
  useEffect(() => {
    if (isEmpty !== undefined && !isSandbox) choose((before) => before ?? isEmpty);
  }, [isEmpty, isSandbox]);
  return [chosen === true && !isSandbox, choose] as const;
}

function useComplaints() {
  const queues = useQueues();
  const stats = useStats("15m");
  const failures = useFailures("1h");
  const { isReady, breakers } = useBreakers();
  const now = useNow();
  const isKnown = queues.data !== undefined && failures.data !== undefined;
  const complaints = complaintsOf({
    queues: queues.data ?? [],
    stats: stats.data,
    failures: failures.data ?? [],
    breakers,
    now,
  });
  return { isPending: queues.isPending || failures.isPending || !isReady, isKnown, complaints };
}

/** One sentence: is it well, and if not, what fails where and since when. */
function Health({ isKnown, complaints }: Omit<ReturnType<typeof useComplaints>, "isPending">) {
  const [worst, ...others] = complaints;
  if (!isKnown) return <div className="health" style={{ ...toneOf("pending"), minHeight: 50 }} />;
  if (worst === undefined) {
    return (
      <div className="health" style={toneOf("completed")} role="status">
        <Icon name="check" />
        All queues are keeping up
      </div>
    );
  }
  const tone =
    worst.kind === "failing" || worst.kind === "held"
      ? "failed"
      : worst.kind === "slow"
        ? "accent"
        : "pending";
  const sentence = (
    <span className="wrap">
      {worst.queue}: {worst.text}
      {worst.words === null ? null : <span className="words small muted">{worst.words}</span>}
    </span>
  );
  return (
    <div className="health" style={toneOf(tone)} role="status">
      <Icon name={worst.kind === "paused" ? "pause" : "failures"} />
      {worst.group === null ? (
        <Link to="/queues/$name" params={{ name: worst.queue }}>
          {sentence}
        </Link>
      ) : (
        <Link to="/failures">{sentence}</Link>
      )}
      {others.length === 0 ? null : <span className="more muted">and {others.length} more below</span>}
    </div>
  );
}

function NewestFailures() {
  const query = { status: "failed", limit: 8, ...useSandbox() } as const;
  const failed = useLiveQuery(
    ["tasks", query],
    async ({ signal }) => (await bellhop.tasks.page(query, { signal })).tasks,
  );
  return (
    <Panel
      title="Newest failures"
      flush
      actions={
        <Link to="/failures" className="link small" style={{ paddingRight: 8 }}>
          All, in groups
        </Link>
      }
    >
      <List
        query={failed}
        keyOf={({ id }) => id}
        empty={
          <Empty
            title="Nothing has failed"
            code={curlOfCreation(
              { queue: "default", webhook_url: "http://127.0.0.1:9000/status/503", max_retries: 0 },
              window.location.origin,
            )}
          >
            To see what a failure looks like, call an address of <code>npm run bellhop echo</code> that fails:
          </Empty>
        }
        columns={[
          {
            title: "Target",
            kind: "main",
            cell: (task) => (
              <Link to="/tasks/$id" params={{ id: task.id }} className="row" title={task.error}>
                <Target task={task} />
              </Link>
            ),
          },
          { title: "Queue", cell: ({ queue }) => <span className="muted">{queue}</span> },
          {
            title: "Answer",
            width: "40%",
            cell: ({ result, error }) => (
              <span className="words" title={error}>
                <ResponseCode code={result?.statusCode} />{" "}
                <span className="muted small">{wordsOf(error)}</span>
              </span>
            ),
          },
          { title: "Failed", at: ({ completedAt }) => completedAt },
        ]}
      />
    </Panel>
  );
}
