import { Code, CopyButton } from '@mantine/core';
import { texts } from '../messages/console.ts';
import { developerTexts } from '../messages/oauth.ts';

type CopyableProps = {
  readonly label: string;
  readonly value: string;
  /** Whether its button has the focus when the dialog opens. */
  readonly isFirst?: boolean;
};

/** A value with a button that copies it. */
export const Copyable = ({ label, value, isFirst = false }: CopyableProps) => (
  <span className="copyable">
    <Code className="copyable-value">{value}</Code>{' '}
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <button
          type="button"
          className="link-button"
          onClick={copy}
          aria-label={developerTexts.copyOf(label)}
          data-autofocus={isFirst || undefined}
        >
          <span aria-live="polite">{copied ? texts.copied : texts.copy}</span>
        </button>
      )}
    </CopyButton>
  </span>
);
