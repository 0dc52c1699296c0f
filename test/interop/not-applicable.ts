type Checks = Readonly<Record<string, readonly string[]>>;

/** The checks of the conformance suite that Roster does not pass, by scenario, under the reason why they do not apply. */
const BOTH = {
  'There are no prompts.': {
    'prompts-list': ['prompts-list'],
    'prompts-get-simple': ['prompts-get-simple'],
    'prompts-get-with-args': ['prompts-get-with-args'],
    'prompts-get-embedded-resource': ['prompts-get-embedded-resource'],
    'prompts-get-with-image': ['prompts-get-with-image'],
  },
  'There are no prompts and no templates of resources, so there is nothing to complete.': {
    'completion-complete': ['completion-complete'],
  },
  'They call tools of a test server (test_simple_text, test_image_content, …).': {
    'tools-call-simple-text': ['tools-call-simple-text'],
    'tools-call-image': ['tools-call-image'],
    'tools-call-audio': ['tools-call-audio'],
    'tools-call-embedded-resource': ['tools-call-embedded-resource'],
    'tools-call-mixed-content': ['tools-call-mixed-content'],
    'tools-call-error': ['tools-call-error'],
    'tools-call-with-progress': ['tools-call-with-progress'],
    'json-schema-2020-12': ['json-schema-2020-12-tool-found'],
  },
  'They read resources of a test server (test://static-text, …).': {
    'resources-read-text': ['resources-read-text'],
    'resources-read-binary': ['resources-read-binary'],
    'resources-templates-read': ['resources-templates-read'],
  },
} as const satisfies Record<string, Checks>;

export const NOT_APPLICABLE: Readonly<Record<string, Readonly<Record<string, Checks>>>> = {
  '2025-11-25': {
    ...BOTH,
    'The server logs nothing to clients.': { 'logging-set-level': ['logging-set-level'] },
    'The server asks clients for nothing; they call tools of a test server.': {
      'tools-call-with-logging': ['tools-call-with-logging'],
      'tools-call-sampling': ['tools-call-sampling'],
      'tools-call-elicitation': ['tools-call-elicitation'],
      'elicitation-sep1034-defaults': ['elicitation-sep1034-general'],
      'elicitation-sep1330-enums': ['elicitation-sep1330-general'],
    },
    'Resources never change, so nobody can subscribe to them (declared).': {
      'resources-subscribe': ['resources-subscribe'],
      'resources-unsubscribe': ['resources-unsubscribe'],
    },
  },
  '2026-07-28': {
    ...BOTH,
    'There are no prompts whose list could be cached.': { caching: ['sep-2549-prompts-list-caching-hints'] },
    'They call diagnostic tools of a test server (test_missing_capability, …).': {
      'server-stateless': [
        'sep-2575-server-rejects-undeclared-capability',
        'sep-2575-missing-capability-http-400',
        'sep-2575-http-server-no-independent-requests-on-stream',
        'sep-2575-server-no-log-without-loglevel',
      ],
    },
    'Lists never change (declared), so the server keeps no subscription open.': {
      'server-stateless': ['sep-2575-server-sends-subscription-ack', 'sep-2575-server-tags-subscription-id'],
    },
    'No tool asks the user through the client; they call tools of a test server.': {
      'input-required-result-basic-elicitation': ['sep-2322-elicitation-incomplete'],
      'input-required-result-basic-sampling': ['sep-2322-sampling-incomplete'],
      'input-required-result-basic-list-roots': ['sep-2322-list-roots-incomplete'],
      'input-required-result-request-state': ['sep-2322-request-state-incomplete'],
      'input-required-result-multiple-input-requests': ['sep-2322-multiple-inputs-incomplete'],
      'input-required-result-multi-round': ['sep-2322-multi-round-r1'],
      'input-required-result-non-tool-request': ['sep-2322-non-tool-incomplete'],
      'input-required-result-result-type': ['sep-2322-result-type-included'],
      'input-required-result-tampered-state': ['sep-2322-reject-tampered-state'],
      'input-required-result-capability-check': ['sep-2322-respect-client-capabilities'],
    },
    'Tasks are an extension outside of the revision, which the server does not declare; they call tools of a test server.':
      {
        'tasks-capability-negotiation': [
          'sep-2663-server-rejects-undeclared-client',
          'sep-2663-tasks-methods-non-declaring',
          'tasks-extension-advertised',
          'tasks-per-request-meta-opt-in',
        ],
        'tasks-dispatch-and-envelope': [
          'sep-2663-durable-create-strong-consistency',
          'sep-2663-legacy-task-param-ignored',
          'sep-2663-tasks-get-invalid-task-id-32602',
          'tasks-immediate-result-shortcut',
          'tasks-result-type-complete-on-non-task-responses',
          'tasks-server-directed-creation-no-hint',
        ],
        'tasks-lifecycle': [
          'sep-2663-cancel-ack-empty-result',
          'sep-2663-result-type-task-on-create',
          'sep-2663-tasks-get-status-completed',
          'sep-2663-tasks-get-status-failed',
          'sep-2663-tasks-get-status-working',
          'sep-2663-tool-error-uses-completed-status',
          'tasks-cancel-terminal-idempotent-ack',
          'tasks-sync-tool-call',
        ],
        'tasks-mrtr-composition': ['sep-2663-mrtr-synchronous-before-task-creation'],
        'tasks-mrtr-input': [
          'sep-2663-tasks-get-status-input-required',
          'tasks-mrtr-partial-fulfillment',
          'tasks-mrtr-tasks-update-resumes',
        ],
        'tasks-request-headers': [
          'sep-2663-routing-headers-accepted-on-tasks-get',
          'sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
          'tasks-headers-tolerate-mcp-method-on-tools-call',
        ],
        'tasks-request-state-removal': ['tasks-request-state-removal-setup'],
        'tasks-required-task-error': ['sep-2663-server-returns-missing-capability-when-required'],
        'tasks-wire-fields': [
          'tasks-no-early-ttl-expiry',
          'tasks-no-related-task-meta-on-inlined-result',
          'tasks-wire-field-renames',
        ],
      },
    'No argument is sent as a header (x-mcp-header).': {
      'http-custom-header-server-validation': [
        'sep-2243-server-no-xmcp-tool',
        'sep-2243-server-decode-base64',
        'sep-2243-server-validate-param-match',
        'sep-2243-server-reject-invalid-param-chars',
        'sep-2243-server-reject-param-mismatch',
      ],
    },
  },
};
