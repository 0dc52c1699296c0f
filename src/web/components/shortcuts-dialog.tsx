import { Kbd, Stack, Switch } from '@mantine/core';
import { shortcutTexts as words } from '../messages/shortcuts.ts';
import { Dialog } from './dialog.tsx';
import { PLACES, TEAM_PLACES } from './shortcut-targets.ts';

type ShortcutsDialogProps = {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly onClose: () => void;
};

export const ShortcutsDialog = ({ isOn, onChange, onClose }: ShortcutsDialogProps) => (
  <Dialog onClose={onClose} title={words.title}>
    <Stack gap="lg">
      <dl className="shortcuts">
        <Shortcut keys={['?']} meaning={words.help} />
        <Shortcut keys={['/']} meaning={words.search} />
        <Shortcut keys={['Ctrl', 'k']} meaning={words.commands} />
        {Object.entries(PLACES).map(([key, place]) => (
          <Shortcut key={key} keys={['g', key]} meaning={words.places[place]} />
        ))}
        {Object.entries(TEAM_PLACES).map(([key, place]) => (
          <Shortcut key={key} keys={['g', key]} meaning={words.places[place]} />
        ))}
      </dl>
      <Switch
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
        label={words.switch}
        description={words.switchHint}
      />
    </Stack>
  </Dialog>
);

const Shortcut = ({ keys, meaning }: { readonly keys: readonly string[]; readonly meaning: string }) => (
  <div>
    <dt>
      {keys.map((key) => (
        <Kbd key={key}>{key}</Kbd>
      ))}
    </dt>
    <dd>{meaning}</dd>
  </div>
);
