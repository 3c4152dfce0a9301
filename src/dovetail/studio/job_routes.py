"""Jobs over HTTP: look and cancel. Each view has its own route to start one."""

from __future__ import annotations

from fastapi import APIRouter

from .jobs import JobState, JobSummary
from .studio import StudioOf

router = APIRouter(prefix="/api/jobs", tags=["jobs"])


@router.get("")
def all_jobs(studio: StudioOf) -> list[JobSummary]:
    """Return in short how all jobs stand, the latest first."""
    fields = set(JobSummary.model_fields)
    return [JobSummary(**job.model_dump(include=fields)) for job in studio.jobs.all()]


@router.get("/{job_id}")
def one_job(job_id: str, studio: StudioOf) -> JobState:
    """Return how a job stands."""
    return studio.jobs.get(job_id)


@router.delete("/{job_id}")
def cancel_job(job_id: str, studio: StudioOf) -> JobState:
    """End a job."""
    return studio.jobs.cancel(job_id)
