import { Button, createTheme, type MantineColorsTuple, Menu, Modal } from "@mantine/core";

// Mantine wants ten shades. The ones it uses are named in tokens.css, where both themes are.
const SHADE = "var(--accent)";
const BRASS: MantineColorsTuple = [SHADE, SHADE, SHADE, SHADE, SHADE, SHADE, SHADE, SHADE, SHADE, SHADE];

const SMALL = { defaultProps: { size: "xs" } };

export const theme = createTheme({
  primaryColor: "brass",
  colors: { brass: BRASS },
  components: {
    // Its lock on scrolling puts a style element into the page, which the policy of the page refuses.
    Modal: Modal.extend({
      defaultProps: { lockScroll: false, centered: true, transitionProps: { duration: 100 } },
    }),
    Menu: Menu.extend({
      defaultProps: { position: "bottom-end", shadow: "md", transitionProps: { duration: 80 } },
    }),
    Button: Button.extend({
      defaultProps: { size: "xs", variant: "default" },
      // Mantine writes white on everything filled; on the light colours of the dark theme that cannot be read.
      vars: (_, { variant, color }) => ({
        root:
          variant === "filled"
            ? { "--button-color": color === "red" ? "var(--failed-contrast)" : "var(--accent-contrast)" }
            : {},
      }),
    }),
    TextInput: SMALL,
    PasswordInput: SMALL,
    Textarea: SMALL,
    NumberInput: SMALL,
    Select: SMALL,
    MultiSelect: SMALL,
    TagsInput: SMALL,
    Autocomplete: SMALL,
    Checkbox: SMALL,
    Switch: SMALL,
    SegmentedControl: SMALL,
  },
});
