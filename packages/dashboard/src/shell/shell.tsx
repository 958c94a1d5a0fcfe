import { Modal } from "@mantine/core";
import { Link, Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useLayoutEffect, useState } from "react";
import bell from "../bell.svg";
import { colorScheme } from "../color-scheme.ts";
import { connection } from "../data/connection.ts";
import { live } from "../data/live.ts";
import { takeWanted, useKnown } from "../data/session.ts";
import { useStream } from "../data/stream.ts";
import { BulkDialog } from "../parts/bulk-dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/page.tsx";
import { Ago } from "../parts/time.tsx";
import { Toasts } from "../parts/toast.tsx";
import { type Keys, useKeys } from "./keys.ts";
import { LiveDot } from "./live-dot.tsx";
import type { Place } from "./navigation.ts";
import { Palette, type RetriedGroup } from "./palette.tsx";
import { Person } from "./person.tsx";
import { usePlaces } from "./places.ts";
import { SandboxSwitch } from "./sandbox-switch.tsx";
import { Shortcuts } from "./shortcuts.tsx";
import { SignIn } from "./sign-in.tsx";
import { TimeZone } from "./time-zone.tsx";

type Opened = "palette" | "shortcuts" | "more" | null;

export function Shell() {
  const known = useKnown();
  const { isSignedOut } = connection.use();
  const { refetch } = known;
  // The answer that says why, and where a link is to be found.
  useEffect(() => {
    if (isSignedOut) void refetch();
  }, [isSignedOut, refetch]);
  if (known.data === undefined && known.error) {
    return (
      <main className="sign-in">
        <Problem error={known.error} />
      </main>
    );
  }
  if (known.data === undefined) return null;
  if ("signIn" in known.data) return <SignIn ways={known.data.signIn} />;
  return <SignedIn />;
}

function SignedIn() {
  useStream();
  useWanted();
  const navigate = useNavigate();
  const groups = usePlaces();
  const [opened, open] = useState<Opened>(null);
  const [retried, retry] = useState<RetriedGroup | null>(null);
  const close = () => open(null);
  const goTo = groups.flatMap(({ places }) =>
    places.map(({ letter, to }) => [`g ${letter}`, () => navigate({ to })] as const),
  );
  const keys: Keys = {
    ...Object.fromEntries(goTo),
    "mod+k": () => open(opened === "palette" ? null : "palette"),
    "/": () => open("palette"),
    "?": () => open("shortcuts"),
    p: live.toggle,
  };
  useKeys(keys, { isShell: true });
  return (
    <div className="shell">
      <a className="skip" href="#main">
        To the content
      </a>
      <nav className="side" aria-label="Pages">
        <Link to="/" className="brand">
          <img src={bell} alt="" />
          Bellhop
        </Link>
        <Groups groups={groups} />
        <div className="side-foot">
          <Person onShortcuts={() => open("shortcuts")} />
        </div>
      </nav>
      <Main onSearch={() => open("palette")} />
      <Bottom places={groups[0]?.places ?? []} onMore={() => open("more")} />
      {opened === "palette" ? (
        <Palette onClose={close} onRetry={retry} extra={switches(() => open("shortcuts"))} />
      ) : null}
      {retried === null ? null : <BulkDialog kind="retry" filter={retried} onClose={() => retry(null)} />}
      {opened === "shortcuts" ? <Shortcuts onClose={close} /> : null}
      {opened === "more" ? (
        <Modal opened onClose={close} title="Bellhop" fullScreen closeButtonProps={{ "aria-label": "Close" }}>
          {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the links inside are what is clicked. */}
          <div
            className="stack"
            onClick={(event) => event.target instanceof Element && event.target.closest("a") && close()}
          >
            <Groups groups={groups.slice(1)} />
            <Person onShortcuts={() => open("shortcuts")} />
          </div>
        </Modal>
      ) : null}
      <Toasts />
    </div>
  );
}

/** Leads on to the page that the reader had to sign in for. */
function useWanted() {
  const { history } = useRouter();
  useLayoutEffect(() => {
    const wanted = takeWanted();
    if (wanted !== null) history.replace(wanted);
  }, [history]);
}

function switches(onShortcuts: () => void) {
  return [
    { title: "Light theme", note: "theme", icon: "sun", run: () => colorScheme.set("light") },
    { title: "Dark theme", note: "theme", icon: "moon", run: () => colorScheme.set("dark") },
    { title: "Theme of the system", note: "theme", icon: "screen", run: () => colorScheme.set("auto") },
    { title: "Pause or resume updates", note: "p", icon: "pause", run: live.toggle },
    { title: "Keyboard", note: "?", icon: "keyboard", run: onShortcuts },
  ] as const;
}

function Groups({ groups }: { readonly groups: ReturnType<typeof usePlaces> }) {
  return (
    <div>
      {groups.map(({ title, places }) => (
        <div key={title} className="nav-group">
          <div className="nav-title">{title}</div>
          {places.map((place) => (
            <Link key={place.to} to={place.to} className="nav-link" activeOptions={activeOf(place)}>
              <Icon name={place.icon} />
              {place.title}
            </Link>
          ))}
        </div>
      ))}
    </div>
  );
}

/** Every path begins with the overview's. */
function activeOf({ to }: Place) {
  return { exact: to === "/", includeSearch: false };
}

function Main({ onSearch }: { readonly onSearch: () => void }) {
  const { lostSince, answeredAt } = connection.use();
  return (
    <main className="main" id="main" data-stale={lostSince !== null}>
      <div className="top">
        <button type="button" className="top-search" onClick={onSearch}>
          <Icon name="search" size={15} />
          <span>Search</span>
          <kbd>Ctrl K</kbd>
        </button>
        <div className="top-right">
          <TimeZone />
          <SandboxSwitch />
          <LiveDot />
        </div>
      </div>
      {lostSince === null ? null : (
        <div className="banner" role="status">
          The server does not answer. This is its last data, <Ago at={new Date(answeredAt).toISOString()} />.
          The page keeps retrying.
        </div>
      )}
      <Outlet />
    </main>
  );
}

/** On a phone, beside "More". */
const BOTTOM_PLACES = 4;

function Bottom({ places, onMore }: { readonly places: readonly Place[]; readonly onMore: () => void }) {
  return (
    <nav className="bottom" aria-label="Pages, short">
      {places.slice(0, BOTTOM_PLACES).map((place) => (
        <Link key={place.to} to={place.to} className="bottom-link" activeOptions={activeOf(place)}>
          <Icon name={place.icon} size={20} />
          {place.title}
        </Link>
      ))}
      <button type="button" className="bottom-link" onClick={onMore}>
        <Icon name="more" size={20} />
        More
      </button>
    </nav>
  );
}
