// `event.locals.auth()` and `page.data.session` are typed by the binding.
import 'authkernel/bindings/sveltekit'
