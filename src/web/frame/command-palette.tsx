import { Combobox, Text, TextInput, useCombobox } from '@mantine/core';
import { useId, useState } from 'react';
import { followActiveOption, useFirstOption } from '../components/active-option.ts';
import { Dialog } from '../components/dialog.tsx';
import { Search } from '../components/icons.tsx';
import { frameTexts } from '../messages/frame.ts';
import { findClosest } from './closest.ts';
import { useCommands } from './commands.ts';

const words = frameTexts.commands;

/** A list of the pages, teams and actions of the console, with a search. */
export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const [sought, setSought] = useState('');
  const combobox = useCombobox({ opened: true, onDropdownClose: onClose });
  const listId = useId();
  const groups = useCommands();
  const found = groups
    .map(({ title, commands }) => ({
      title,
      ...findClosest(commands, sought, ({ terms, label }) => terms ?? [label]),
    }))
    .filter(({ count }) => count > 0);
  const cut = found.find(({ shown, count }) => shown.length < count);
  useFirstOption(combobox, sought, found.length);
  const run = (id: string) => {
    onClose();
    // Runs after this dialog has closed, so that the next one gets the focus.
    const command = found.flatMap(({ shown }) => shown).find((each) => each.id === id);
    setTimeout(() => command?.run());
  };
  return (
    <Dialog
      onClose={onClose}
      title={words.title}
      centered={false}
      classNames={{ header: 'palette-header', body: 'palette' }}
    >
      <div ref={followActiveOption} className="contents">
        <Combobox store={combobox} onOptionSubmit={run}>
          <Combobox.EventsTarget
            aria-expanded={found.length > 0}
            {...(found.length > 0 && { 'aria-controls': listId })}
          >
            <TextInput
              value={sought}
              onChange={(event) => setSought(event.currentTarget.value)}
              aria-label={words.title}
              placeholder={words.placeholder}
              leftSection={<Search size={18} />}
              autoComplete="off"
              data-autofocus
              // eslint-disable-next-line jsx-a11y/role-has-required-aria-props -- its parent adds them
              role="combobox"
            />
          </Combobox.EventsTarget>
          <Combobox.Options
            id={listId}
            className="palette-options"
            aria-label={words.title}
            hidden={found.length === 0}
          >
            {found.map(({ title, shown }) => (
              <Combobox.Group key={title} label={title}>
                {shown.map(({ id, label, icon: Icon }) => (
                  <Combobox.Option key={id} value={id}>
                    <Icon size={18} />
                    <bdi>{label}</bdi>
                  </Combobox.Option>
                ))}
              </Combobox.Group>
            ))}
          </Combobox.Options>
          <Text role="status" size="sm" c="dimmed" className="palette-none">
            {found.length === 0 && words.none}
            {cut !== undefined && frameTexts.more({ shown: cut.shown.length, count: cut.count })}
          </Text>
        </Combobox>
      </div>
    </Dialog>
  );
}
