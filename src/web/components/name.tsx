import { neutralize } from '../../messages/neutralize.ts';

type NameProps = {
  readonly children: string | null;
  readonly className?: string;
  /** By default that of the first letter. */
  readonly dir?: 'ltr';
};

/** A value that a user or another service chose, where it stands alone: it cannot reorder, hide or break other text. */
export const Name = ({ children, ...props }: NameProps) => (
  <bdi {...props}>{children === null ? null : neutralize(children)}</bdi>
);
