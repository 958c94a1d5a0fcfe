import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/mantine.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/tables.css";
import "./styles/forms.css";
import "./styles/overlays.css";
import "./styles/tasks.css";
import "./styles/task.css";
import "./styles/charts.css";
import "./styles/touch.css";
import { ApiError } from "@bellhop/sdk";
import { colorScheme } from "./color-scheme.ts";
import { useSystemDark } from "./data/media.ts";
import { router } from "./router.tsx";
import { theme } from "./theme.ts";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal stays one; a server that is away is asked again by the next interval.
      retry: (failures, error) => !(error instanceof ApiError) && failures < 2,
      retryDelay: 1000,
      staleTime: 1000,
    },
  },
});

function App() {
  const chosen = colorScheme.use();
  const isSystemDark = useSystemDark();
  const scheme = chosen === "auto" ? (isSystemDark ? "dark" : "light") : chosen;
  return (
    <MantineProvider
      theme={theme}
      forceColorScheme={scheme}
      // Both would put style elements into the page, which its policy refuses: the stylesheets have it all.
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}

const element = document.getElementById("root");
if (element !== null) {
  createRoot(element).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
