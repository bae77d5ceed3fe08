// Faults of the Python client. The tests that find them need Python.
import type { Mutant } from './mutant.ts'

const CALLS = 'clients/python/src/countersign/calls.py'
const CLIENT = 'clients/python/src/countersign/client.py'
const TESTS = ['test/clients/python']

export const PYTHON_CLIENT: readonly Mutant[] = [
  {
    fault: 'the Python client repeats a verify that may have been executed, and spends two attempts of the user',
    file: CALLS,
    original: 'VerifyResult, {"otp_id": otp_id, "code": code}, is_repeatable=False)',
    planted: 'VerifyResult, {"otp_id": otp_id, "code": code})',
    tests: TESTS,
  },
  {
    fault: 'the Python client does not repeat a verify of which the service said that it was not executed',
    file: 'clients/python/src/countersign/errors.py',
    original: 'executed=problem.get("executed")',
    planted: 'executed=None',
    tests: TESTS,
  },
  {
    fault: 'the Python client repeats a call before the service said that it may',
    file: CALLS,
    original: '(error.retry_after or backoff / 2)',
    planted: '(backoff / 2)',
    tests: TESTS,
  },
  {
    fault: 'the Python client multiplies the load of an outage',
    file: CALLS,
    original: ' and self._retries.take()',
    planted: '',
    tests: TESTS,
  },
  {
    fault: 'the Python client does not ask for the lost answer to a right code after a 524 of a proxy',
    file: CALLS,
    original: '(error.status or 0) >= FIRST_RETRIED_STATUS',
    planted: 'error.status in (500, 502, 503, 504)',
    tests: TESTS,
  },
  {
    fault: 'the traceback of a request that is not valid HTTP shows the key',
    file: CLIENT,
    original: 'executed=False) from None',
    planted: 'executed=False) from error',
    tests: TESTS,
  },
  {
    fault: 'the blocking Python client waits for an answer that trickles',
    file: CLIENT,
    original: 'if time_left.is_over():',
    planted: 'if not piece:',
    tests: TESTS,
  },
  {
    fault: 'the async Python client waits for an answer that trickles',
    file: CLIENT,
    original: 'anyio.move_on_after(self._settings.timeout)',
    planted: 'anyio.move_on_after(None)',
    tests: TESTS,
  },
  {
    fault: 'the Python client accepts a webhook that was recorded long ago',
    file: 'clients/python/src/countersign/webhooks.py',
    original: 'abs(time.time() - int(timestamp))',
    planted: '(int(timestamp) - time.time())',
    tests: TESTS,
  },
]
