/** A request whose body was read, for functions of hosts. */
import { setHostRequest } from './host-request.ts'

/** The request with fields as its body, as JSON: the stream of the original was read (row 215). For functions of hosts. */
export function withFields(request: Request, fields: Readonly<Record<string, unknown>>): Request {
  const headers = new Headers(request.headers)
  headers.set('content-type', 'application/json')
  headers.delete('content-length')
  return setHostRequest(new Request(request.url, { method: 'POST', headers, body: JSON.stringify(fields) }), request)
}
