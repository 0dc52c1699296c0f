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
import { COLOR_SCHEME_KEY } from './stored.ts';

/**
 * Default props of components. Colors and sizes are in palette.css, because the Content-Security-Policy
 * blocks style elements that a script adds.
 */
export const theme = createTheme({
  primaryColor: 'brand',
  // The shades are not used: palette.css has the colors.
  colors: { brand: ['', '', '', '', '', '', '', '', '', ''] },
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

export const colorSchemes = localStorageColorSchemeManager({ key: COLOR_SCHEME_KEY });
