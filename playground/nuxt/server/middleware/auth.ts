// Answers the routes below /auth, and puts `auth()` on the context of every other event.
export default defineEventHandler((event) => auth.handler(event))
