/** A request whose body was read, for functions of hosts. */

/** The request with fields as its body, as JSON: the stream of the original was read (row 215). For functions of hosts. */
export function withFields({ url, headers: original }: Request, fields: Readonly<Record<string, unknown>>): Request {
  const headers = new Headers(original)
  headers.set('content-type', 'application/json')
  headers.delete('content-length')
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(fields) })
}
