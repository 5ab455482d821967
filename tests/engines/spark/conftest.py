"""One Spark for all tests, on two threads, whose tasks may be tried three times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    import warnings

    from pyspark.sql import SparkSession

    from neardup.engines.spark.session import session

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.default.parallelism": "2",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.log.level": "OFF",
            # Queries are many and small: what is compiled for one never pays, and a tenth of
            # the time of the Java machine would go to checking the byte code of Spark.
            "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
            " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
        }
        builder = SparkSession.builder.master("local[2,3]").appName("tests")
        made = builder.config(map=settings).getOrCreate()
        yield session(made)
        made.stop()
