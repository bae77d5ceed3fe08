// Faults of the Python client. The tests that find them need Python.
import type { Mutant } from './mutant.ts'

const CALLS = 'clients/python/src/countersign/calls.py'
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
    fault: 'the Python client accepts a webhook that was recorded long ago',
    file: 'clients/python/src/countersign/webhooks.py',
    original: 'abs(time.time() - int(timestamp))',
    planted: '(int(timestamp) - time.time())',
    tests: TESTS,
  },
]
