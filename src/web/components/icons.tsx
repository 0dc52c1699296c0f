import type { ReactNode } from 'react';

const Icon = ({ children, size = 20 }: { readonly children: ReactNode; readonly size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth={1.75}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {children}
  </svg>
);

export const Sun = () => (
  <Icon>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2v2M12 20v2M2 12h2M20 12h2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4" />
  </Icon>
);

export const Moon = () => (
  <Icon>
    <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z" />
  </Icon>
);

export const Key = () => (
  <Icon>
    <circle cx="8" cy="15" r="4" />
    <path d="M11 12l8-8M16 7l3 3M14 9l2 2" />
  </Icon>
);

export const People = () => (
  <Icon size={28}>
    <circle cx="9" cy="8" r="3.5" />
    <path d="M2.5 20a6.5 6.5 0 0 1 13 0M16 4.800a3.5 3.5 0 0 1 0 6.400M18 14.200a6.5 6.5 0 0 1 3.5 5.8" />
  </Icon>
);

export const Envelope = () => (
  <Icon size={28}>
    <rect x="3" y="5" width="18" height="14" rx="2" />
    <path d="M3.5 7l8.5 6 8.5-6" />
  </Icon>
);

export const Device = () => (
  <Icon>
    <rect x="3" y="4" width="18" height="12" rx="2" />
    <path d="M8 20h8M12 16v4" />
  </Icon>
);

export const App = ({ size = 20 }: { readonly size?: number }) => (
  <Icon size={size}>
    <rect x="3" y="4" width="18" height="16" rx="2" />
    <path d="M3 9h18M7 6.500h.01M10 6.500h.01" />
  </Icon>
);

export const More = () => (
  <Icon>
    <path d="M5 12h.01M12 12h.01M19 12h.01" strokeWidth={2.5} />
  </Icon>
);

export const Mark = () => (
  <svg width={28} height={28} viewBox="0 0 32 32" aria-hidden="true" className="mark">
    <rect width="32" height="32" rx="8" />
    <g fill="#fff">
      <circle cx="11" cy="11" r="3" />
      <rect x="17" y="9.5" width="8" height="3" rx="1.5" />
      <circle cx="11" cy="21" r="3" opacity=".75" />
      <rect x="17" y="19.5" width="8" height="3" rx="1.5" opacity=".75" />
    </g>
  </svg>
);
