/** An https server for documents of clients, and the guarded fetch that finds it by name: `agent.example` is the test server, all else is inside the network. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Plugin } from 'authkernel/kernel'
import { createPublicFetch } from 'authkernel/kernel/protocols'

export interface DocumentServer {
  /** `https://agent.example:port` */
  origin: string
  /** Paths that were asked for. */
  fetched: string[]
  publicFetch: Plugin
  close(): Promise<void>
}

/** `answer`: the document of a path; undefined: 404. */
export async function serveDocuments(
  answer: (id: string, path: string) => object | undefined,
  headersOf: (path: string) => Record<string, string> = () => ({}),
): Promise<DocumentServer> {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-client-documents-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=agent.example', '-addext', 'subjectAltName=DNS:agent.example']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, '-days', '2', ...subject], { stdio: 'ignore' })
  const ca = readFileSync(cert, 'utf8')
  const fetched: string[] = []
  const server = createServer({ key: readFileSync(key), cert: ca }, (request, response) => {
    const path = request.url ?? ''
    fetched.push(path)
    const document = answer(`${origin()}${path}`, path)
    if (document) response.writeHead(200, { 'content-type': 'application/json', ...headersOf(path) }).end(JSON.stringify(document))
    else response.writeHead(404).end()
  })
  const origin = () => `https://agent.example:${(server.address() as AddressInfo).port}`
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  rmSync(folder, { recursive: true })
  const lookup = (host: string) => (host === 'agent.example' ? ['127.0.0.1'] : ['10.0.0.1'])
  return {
    origin: origin(),
    fetched,
    publicFetch: {
      name: 'test-fetch',
      setup: (kernel) => kernel.provide('publicFetch', createPublicFetch({ allow: ['127.0.0.1'], ca, lookup })),
    },
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  }
}
