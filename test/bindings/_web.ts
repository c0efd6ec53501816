/** Hosts whose framework speaks web requests: a node server in front, the framework's own objects made by hand. */
import { answerWeb, sendResponse } from '../../bindings/_shared/node-request.ts'
import { serve, type TestServer } from './_http.ts'

/** Serves web answers; what is thrown becomes an empty 500, as frameworks answer. */
export function serveWeb(answer: (request: Request, peer: string) => Promise<Response>): Promise<TestServer> {
  return serve(
    (req, res) =>
      void answerWeb(req, res, {}, (request) => answer(request, req.socket.remoteAddress ?? ''))
        .then((response) => sendResponse(res, response))
        .catch(() => (res.headersSent ? res.destroy() : res.writeHead(500).end())),
  )
}

/** Fields of a posted form. */
export async function formOf(request: Request): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await request.text()))
}

/** A copy of a response with more cookies: what frameworks do with those that were set on the way. */
export function withCookies(response: Response, cookies: Iterable<string>): Response {
  const copy = new Response(response.body, response)
  for (const cookie of cookies) copy.headers.append('set-cookie', cookie)
  return copy
}
