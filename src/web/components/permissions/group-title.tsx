import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { OpenGroup } from './use-groups.ts';

type GroupTitleProps = {
  readonly id: string;
  readonly group: OpenGroup;
  readonly onToggle: (title: string) => void;
  /** What is said beside the title. */
  readonly children?: ReactNode;
};

/** The title of a group of permissions, which opens the group in long lists. */
export const GroupTitle = ({ id, group: { title, isOpen, canToggle }, onToggle, children }: GroupTitleProps) => (
  <div className="permission-group">
    {canToggle ? (
      <button
        type="button"
        id={id}
        className="permission-toggle"
        aria-expanded={isOpen}
        onClick={() => onToggle(title)}
      >
        <bdi>{title}</bdi>
      </button>
    ) : (
      <Text component="span" id={id} size="sm" fw={600}>
        <bdi>{title}</bdi>
      </Text>
    )}
    <Text component="span" size="sm" c="dimmed">
      {children}
    </Text>
  </div>
);
