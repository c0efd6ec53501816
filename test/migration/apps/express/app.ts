import { ExpressAuth, getSession } from '@auth/express'
import express, { type NextFunction, type Request, type Response } from 'express'
import { authConfig } from './auth.js'

const app = express()
app.set('trust proxy', true)
app.use('/auth/*', ExpressAuth(authConfig))

// oxlint-disable-next-line no-async-endpoint-handlers -- it hands on what is thrown
app.use(async (req: Request, res: Response, next: NextFunction) => {
  try {
    res.locals.session = await getSession(req, authConfig)
    next()
  } catch (error) {
    next(error)
  }
})

app.get('/', (_req, res) => {
  const { session } = res.locals
  res.send(
    session?.user
      ? `<p id="who">${session.user.name}</p><p id="role">${session.role}</p><a href="/auth/signout">Sign out</a>`
      : '<p id="who">nobody</p><a href="/auth/signin">Sign in</a>',
  )
})

app.get('/protected', (_req, res) => {
  if (!res.locals.session?.user) return res.redirect('/auth/signin?callbackUrl=/protected')
  return res.send(`<h1>For ${res.locals.session.user.name}</h1>`)
})

app.listen(Number(process.env.PORT), '127.0.0.1')
