import os
import signal
import threading

import pytest

from point2node.training.interruption import noted_interruptions


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_noted_and_the_second_stops_at_once(number):
    before = signal.getsignal(number)
    with noted_interruptions() as interruption:
        assert interruption.signal is None
        os.kill(os.getpid(), number)
        assert interruption.signal == number
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(number) is before


def test_handlers_come_back_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError), noted_interruptions():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_trains_without_handlers():
    found = []

    def work():
        with noted_interruptions() as interruption:
            found.append(interruption.signal)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [None]
