// An agent over MCP, without a model: it reads what the tools say, and removes a member only after a confirmation.
// ROSTER_URL=http://localhost:3000 ROSTER_KEY=rst_pk_… node agent.mjs remove team_… acc_… [--yes]
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [action, teamId, userId, confirmation] = process.argv.slice(2);
const url = new URL('/mcp', process.env.ROSTER_URL ?? 'http://localhost:3000');
const client = new Client({ name: 'example-agent', version: '1.0.0' });
await client.connect(
  new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: `Bearer ${process.env.ROSTER_KEY}` } },
  }),
);

/** Calls a tool. A failure is text that says what to do next, which an agent gives to its model. */
async function call(name, args) {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
  if (isError) throw new Error(content[0].text);
  return structuredContent;
}

try {
  if (action === 'teams') {
    for (let offset = 0; offset !== null;) {
      const page = await call('listTeams', { offset });
      for (const { id, name } of page.items) console.log(id, name);
      offset = page.nextOffset;
    }
  } else if (action === 'remove') {
    // The first call changes nothing and describes the change: show it to the user.
    const { message, change, confirm } = await call('removeTeamMember', { teamId, userId });
    console.log(message, change);
    if (confirmation === '--yes') console.log(await call('removeTeamMember', { teamId, userId, confirm }));
  } else {
    for (const { name, annotations } of (await client.listTools()).tools)
      console.log(name, annotations.readOnlyHint ? 'reads' : annotations.destructiveHint ? 'destroys' : 'adds');
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await client.close();
}
