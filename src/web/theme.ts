import {
  Alert,
  Anchor,
  createTheme,
  localStorageColorSchemeManager,
  NativeSelect,
  PasswordInput,
  Skeleton,
  TextInput,
} from '@mantine/core';
import { texts } from './messages/console.ts';

/**
 * Only defaults of components: the colors and sizes are in theme.css, as a static file, because the
 * policy of the pages allows no style element that a script makes.
 */
export const theme = createTheme({
  respectReducedMotion: true,
  components: {
    Alert: Alert.extend({ defaultProps: { variant: 'light' } }),
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    NativeSelect: NativeSelect.extend({ defaultProps: { size: 'md' } }),
    PasswordInput: PasswordInput.extend({
      defaultProps: {
        withAsterisk: false,
        size: 'md',
        visibilityToggleFocusable: true,
        visibilityToggleButtonProps: { 'aria-label': texts.showPassword },
      },
    }),
    Skeleton: Skeleton.extend({ defaultProps: { radius: 'md' } }),
    TextInput: TextInput.extend({ defaultProps: { withAsterisk: false, size: 'md' } }),
  },
});

/** The key is read by color-scheme.js as well. */
export const colorSchemes = localStorageColorSchemeManager({ key: 'roster-color-scheme' });
