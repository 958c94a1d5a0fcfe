import { Link } from "@tanstack/react-router";
import { Empty, Page } from "../parts/page.tsx";

export function NotFound() {
  return (
    <Page title="Not found">
      <Empty title="Page not found">
        Perhaps what you look for is among the{" "}
        <Link to="/tasks" className="link">
          tasks
        </Link>
        , or on the{" "}
        <Link to="/" className="link">
          overview
        </Link>
        .
      </Empty>
    </Page>
  );
}
