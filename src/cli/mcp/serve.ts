/** `authkernel mcp`: a server of the Model Context Protocol over stdin and stdout, for editors and agents that work on an app. */
import { readVersion } from '../package.ts'
import { type Report, type Setting, UsageError } from '../report.ts'
import { tools } from './tools.ts'

/** Ends when the client closes its end. Throws UsageError without `@modelcontextprotocol/sdk`. */
export async function serveMcp({ cwd, env }: Pick<Setting, 'cwd' | 'env'>): Promise<Report> {
  const { Server, StdioServerTransport, CallToolRequestSchema, ListToolsRequestSchema } = await loadSdk()
  const server = new Server({ name: 'authkernel', version: readVersion() }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema: { ...inputSchema } })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (!tool) return toFailure(`There is no tool "${params.name.slice(0, 100)}".`)
    try {
      return { content: [{ type: 'text' as const, text: JSON.stringify(await tool.run(params.arguments ?? {}, { cwd, env }), null, 2) }] }
    } catch (error) {
      if (error instanceof UsageError) return toFailure(error.message)
      throw error
    }
  })
  const closed = new Promise<void>((done) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way to hear of it
    server.onclose = done
    process.stdin.once('end', () => void server.close())
  })
  await server.connect(new StdioServerTransport())
  await closed
  return { data: {}, lines: [] }
}

function toFailure(message: string): { isError: true; content: { type: 'text'; text: string }[] } {
  return { isError: true, content: [{ type: 'text', text: message }] }
}

async function loadSdk() {
  try {
    const [{ Server }, { StdioServerTransport }, { CallToolRequestSchema, ListToolsRequestSchema }] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ])
    return { Server, StdioServerTransport, CallToolRequestSchema, ListToolsRequestSchema }
  } catch {
    throw new UsageError('`authkernel mcp` needs a package: npm install --save-dev @modelcontextprotocol/sdk')
  }
}
