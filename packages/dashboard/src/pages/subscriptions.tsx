import { Empty, Page, PageHead } from "../parts/page.tsx";

export function Subscriptions() {
  return (
    <Page title="Subscriptions">
      <PageHead title="Subscriptions" />
      <Empty title="Not here yet" />
    </Page>
  );
}
