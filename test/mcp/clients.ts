import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';
import type { Api } from '../support/api.ts';

type Result = {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
};

/** What the tests use of a client of either era. */
export type McpClient = {
  listTools(): Promise<{
    tools: { name: string; description?: string; inputSchema: object; outputSchema?: object; annotations?: object }[];
  }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<Result>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: { text?: string }[] }>;
  getInstructions(): string | undefined;
};

export const ERAS = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof ERAS)[number];

/** Calls a destructive tool as agents do: shows what it would do, and confirms it. */
export async function confirmed(client: Pick<McpClient, 'callTool'>, name: string, args: Record<string, unknown>) {
  const described = await client.callTool({ name, arguments: args });
  const confirm = described.structuredContent?.['confirm'];
  return client.callTool({ name, arguments: { ...args, confirm } });
}

/** Connects a client of the official SDK with a bearer credential. */
export async function connect({ port }: Api, era: Era, credential: string): Promise<McpClient> {
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const options = { requestInit: { headers: { authorization: `Bearer ${credential}` } } };
  const info = { name: 'test', version: '1.0.0' };
  const client = era === '2025-11-25' ? new OldClient(info) : new NewClient(info);
  const transport = era === '2025-11-25' ? new OldTransport(url, options) : new NewTransport(url, options);
  await client.connect(transport as never); // each client with the transport of its own package
  onTestFinished(() => client.close());
  return client as unknown as McpClient; // the part that both share
}
