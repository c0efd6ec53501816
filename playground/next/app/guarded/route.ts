import { auth, requireSession } from '../../auth'

export const GET = auth(async (request) => {
  if (request.auth) return Response.json(request.auth)
  if (!request.headers.get('accept')?.includes('text/html')) return Response.json({ error: 'Unauthorized' }, { status: 401 })
  return Response.json(await requireSession({ callbackUrl: request.nextUrl.pathname }))
})
