export default defineEventHandler((event) => auth.signOut(event, { redirectTo: '/' }))
